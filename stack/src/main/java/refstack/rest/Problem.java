package refstack.rest;

/**
 * What went wrong, for the client.
 *
 * @param status the HTTP status once more
 * @param title  the standard words for it
 * @param detail what was wrong with this request
 */
record Problem(int status, String title, String detail) {
}
