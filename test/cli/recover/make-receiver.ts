// A receiver that is made when it is asked for, in a shop that leaves something open.
export default async function makeReceiver() {
  setInterval(() => {}, 60_000);
  const { receiver } = await import('./receiver.js');
  return receiver();
}
