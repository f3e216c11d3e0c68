/** Events of many agents: checked, queued on disk, acknowledged, and later stored by workers. */
package refstack.events;
