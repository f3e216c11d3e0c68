/**
 * Work for a disk, in the node's own data folder: sets of files that are written, forced to disk
 * and read back, and jobs of fio, a tool that drives a disk as databases do.
 */
package refstack.disk;
