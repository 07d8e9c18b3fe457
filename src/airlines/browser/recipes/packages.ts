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

/** The first of them that is not there; null: all are. None is loaded. */
export function missingPackage(): string | null {
  const isThere = (name: string) => {
    try {
      return required.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  return ['playwright-core', 'postal-mime', 'mailauth'].find((name) => !isThere(`${name}/package.json`)) ?? null;
}
