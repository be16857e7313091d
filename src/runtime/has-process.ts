/**
 * Whether this is a process of its own. On serverless runtimes, an invocation can be cut off and never end here, a
 * timer ends with its invocation, and time passes only between calls. There, the platform sheds load.
 */
export const HAS_PROCESS = !('WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis);
