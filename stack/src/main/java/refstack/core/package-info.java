/**
 * Flights and where they come from. Knows no protocol, no database and no web server: protocols
 * and back ends depend on this package, never the other way round (a test keeps it so).
 */
package refstack.core;
