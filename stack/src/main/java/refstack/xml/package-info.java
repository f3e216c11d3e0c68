/**
 * Transformation of large XML documents in three ways of equal result: by a compiled stylesheet of
 * either XSLT processor, and element by element by a list of actions.
 */
package refstack.xml;
