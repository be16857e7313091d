// Exports a function that creates the receiver. The shop leaves a handle open.
export default async function makeReceiver() {
  setInterval(() => {}, 60_000);
  const { receiver } = await import('./receiver.js');
  return receiver();
}
