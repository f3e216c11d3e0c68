/** What the parts' controllers share on the way out: bodies as JSON, problems in one form. */
package refstack.answers;
