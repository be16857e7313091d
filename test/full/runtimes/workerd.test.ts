import { adapterContract } from '../../adapters/contract.js';
import { withRuntimes } from '../../runtimes/installed.js';
import { useWorkerProject } from '../../runtimes/worker-project.js';

/** Node's crypto is available by default since 2026-08-04. */
const DATES = [
  ['2026-10-23', /on Cloudflare-Workers with Node's crypto/],
  ['2022-01-01', /on a runtime without a name without Node's crypto/],
] as const;

withRuntimes('the adapter in workerd', () => {
  const start = useWorkerProject();

  for (const [compatibilityDate, runtime] of DATES) {
    const open = () => start('worker.ts', compatibilityDate);
    adapterContract(`toWorker as of ${compatibilityDate}`, open, { runtime });
  }
});
