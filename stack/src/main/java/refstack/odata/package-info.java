/**
 * Flights over OData version 2, the dialect of SAP Gateway, by Apache Olingo: at
 * {@code /odata/standard/} as Olingo is meant to be used, at {@code /odata/compatibility/} with
 * the detours that a compatibility layer takes. Both give the same documents.
 *
 * <p>Olingo's own servlet is of the old {@code javax.servlet} kind; the
 * servlet of this package takes its place, the rest of Olingo knows no servlets.
 */
package refstack.odata;
