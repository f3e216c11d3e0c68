/**
 * What every node has, whatever its role: the check of its configuration, its ready line, error
 * bodies for requests that no protocol answers, and the times of its requests.
 */
package refstack.node;
