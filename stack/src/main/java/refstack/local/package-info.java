/** The back end in this process: flights out of PostgreSQL over a pool of connections. */
package refstack.local;
