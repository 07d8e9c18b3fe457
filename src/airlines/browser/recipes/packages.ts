import { createRequire } from 'node:module';
import { problem } from '../../../kernel/problems.ts';

/** The part of mailauth that is used here; it brings no types. */
interface Dkim {
  dkimVerify(
    message: Buffer,
    options: { resolver?: ((name: string, type: string) => Promise<string[][]>) | undefined },
  ): Promise<{
    readonly results: readonly {
      readonly signingDomain?: string;
      readonly algo?: string;
      /** Names of the headers that are signed, `From: To: Subject`. */
      readonly signingHeaders?: { readonly keys: string };
      /** True where the signature is of a part of the body alone. */
      readonly canonBodyLengthLimited?: boolean;
      readonly status: { readonly result: string };
    }[];
  }>;
}

/** Packages that only carriers' web sites need. The operator installs them; they are not in the bundle. */
interface Packages {
  'playwright-core': typeof import('playwright-core');
  'playwright-core/package.json': { readonly version: string };
  'postal-mime': typeof import('postal-mime');
  'mailauth/lib/dkim/verify.js': Dkim;
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

/** The first of them that is not installed, or null. Loads none. */
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
