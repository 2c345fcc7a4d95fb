// A simulation that is running: see the server in cli/.
export function startLive() {
  throw new Error('this page waits for a simulation');
}
