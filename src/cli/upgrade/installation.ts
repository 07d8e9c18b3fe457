import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How this copy of the tool came here, and the command that brings the next one. */
export interface Installation {
  readonly by: 'npm' | 'pnpm' | 'npx' | 'project' | 'checkout';
  readonly command: string;
}

const LOCKFILES: readonly (readonly [file: string, command: string])[] = [
  ['pnpm-lock.yaml', 'pnpm add farelock@latest'],
  ['yarn.lock', 'yarn add farelock@latest'],
];

/**
 * Told from where the script lies, with links resolved.
 * @param script absolute path of bin/farelock.js
 */
export function installationOf(script: string): Installation {
  const path = script.replaceAll('\\', '/');
  const at = path.indexOf('/node_modules/');
  if (at < 0) return { by: 'checkout', command: 'git pull && npm run setup' };
  if (path.includes('/_npx/')) return { by: 'npx', command: 'npx farelock@latest' };
  if (/\/pnpm\/(?:\w+\/)*global\//i.test(path))
    return { by: 'pnpm', command: 'pnpm add --global farelock@latest' };
  const folder = script.slice(0, at);
  if (!dependsOnIt(folder)) return { by: 'npm', command: 'npm install --global farelock@latest' };
  const [, command = 'npm install farelock@latest'] =
    LOCKFILES.find(([file]) => existsSync(join(folder, file))) ?? [];
  return { by: 'project', command };
}

/** A project names it in its package.json; the folder of global packages has none that does. */
function dependsOnIt(folder: string): boolean {
  try {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as Record<string, object | undefined>;
    return 'farelock' in { ...dependencies, ...devDependencies, ...optionalDependencies };
  } catch {
    // No package.json, or none that can be read: nobody's project.
    return false;
  }
}
