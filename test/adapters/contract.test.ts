import { applications } from './applications.js';
import { type Application, makeContract } from './apps/inside/contract.js';
import { adapterContract, type Mounted } from './contract.js';

/** In this process. */
async function open({ serve }: Application): Promise<Mounted> {
  const lines: string[] = [];
  const { port, close } = await serve(makeContract((line) => lines.push(line)));
  return { origin: `http://127.0.0.1:${port}`, output: () => lines.join('\n'), stop: close };
}

for (const [, application] of await applications()) {
  adapterContract(application.name, () => open(application), application);
}
