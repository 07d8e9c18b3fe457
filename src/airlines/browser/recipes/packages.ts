import { createRequire } from 'node:module';
import { problem } from '../../../kernel/problems.ts';

/** The used part of mailauth, which has no types. */
interface Dkim {
  dkimVerify(
    message: Buffer,
    options: { resolver?: ((name: string, type: string) => Promise<string[][]>) | undefined },
  ): Promise<{
    readonly results: readonly {
      readonly signingDomain?: string;
      readonly algo?: string;
      /** Signed headers: `From: To: Subject`. */
      readonly signingHeaders?: { readonly keys: string };
      /** True if only a part of the body is signed. */
      readonly canonBodyLengthLimited?: boolean;
      readonly status: { readonly result: string };
    }[];
  }>;
}

/** Packages for carriers' sites, which the operator installs. */
interface Packages {
  'playwright-core': typeof import('playwright-core');
  'playwright-core/package.json': { readonly version: string };
  'postal-mime': typeof import('postal-mime');
  'mailauth/lib/dkim/verify.js': Dkim;
}

/** Precompiled chunks (bin/load.js) can't import. */
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

const PACKAGES = ['playwright-core', 'postal-mime', 'mailauth'];

/** Finds the first package that is not installed, without loading any. */
export function missingPackage(names: readonly string[] = PACKAGES): string | null {
  const isThere = (name: string) => {
    try {
      return required.resolve(name) !== '';
    } catch {
      return false;
    }
  };
  return names.find((name) => !isThere(`${name}/package.json`)) ?? null;
}
