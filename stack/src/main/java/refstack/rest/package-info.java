/** Flights over plain REST: Jersey under {@code /rest}, in JSON and XML. */
package refstack.rest;
