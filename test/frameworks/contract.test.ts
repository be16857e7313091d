import { applications } from '../adapters/applications.js';
import { type Application, makeContract, SECRET } from '../adapters/apps/inside/contract.js';
import { adapterContract, type Mounted } from '../adapters/contract.js';

/** Runs the applications in this process. */
async function open({ serve }: Application): Promise<Mounted> {
  const lines: string[] = [];
  // Nothing between this sender and its server delays a body.
  const contract = makeContract((line) => lines.push(line), SECRET, 250);
  const { port, close } = await serve(contract);
  return { origin: `http://127.0.0.1:${port}`, output: () => lines.join('\n'), stop: close };
}

for (const [, application] of await applications()) {
  adapterContract(application.name, () => open(application), application);
}
