import { createRequire } from 'node:module';
import { problem } from '../../../kernel/problems.ts';

/** Packages that only carriers' web sites need. They are the operator's to install, and not in the bundle. */
interface Packages {
  'playwright-core': typeof import('playwright-core');
  'playwright-core/package.json': { readonly version: string };
  'postal-mime': typeof import('postal-mime');
  'mailauth/lib/dkim/verify.js': typeof import('mailauth/lib/dkim/verify.js');
}

/** Required rather than imported: a chunk that is loaded with its compiled code (bin/load.js) can import nothing. */
const required = createRequire(import.meta.url);

/** @throws Problem `browser_missing` where it is not installed */
export function installed<N extends keyof Packages>(name: N): Packages[N] {
  try {
    return required(name) as Packages[N];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.endsWith('MODULE_NOT_FOUND')) throw problem('browser_missing');
    throw error;
  }
}

/** True when all of them are there. None is loaded. */
export function areInstalled(): boolean {
  try {
    for (const name of ['playwright-core', 'postal-mime', 'mailauth/package.json']) required.resolve(name);
    return true;
  } catch {
    return false;
  }
}
