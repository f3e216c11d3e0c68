/** Fills the database. A main of its own, without Spring: it starts in a fraction of a second. */
package refstack.load;
