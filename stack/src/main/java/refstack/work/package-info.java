/**
 * Database and application work over a ledger: counting and selecting, a report in three stages,
 * pairs of naive and better code that do the same, and long jobs. What each piece of work takes is
 * told apart into time in the database and all other time.
 */
package refstack.work;
