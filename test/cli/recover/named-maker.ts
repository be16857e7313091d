// The receiver of a shop under the name of a function that makes it, as a build without secrets needs it.
export { receiver as makeReceiver } from './receiver.js';
