import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../../../package.json';
import { fieldLines, type View } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { loadLatest } from '../../upgrade/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type Upgrade = DocumentOf<typeof result.upgrade>;

/** Names the command that installs the newest release; installs nothing. */
export const upgrade: Run<typeof spec.upgrade> = async ({ terminal, session, environment, clock, signal }) => {
  terminal.phase('Asking the registry');
  const { isNewer, latestVersion, noteLook } = await loadLatest();
  const latest = await latestVersion(environment, signal);
  noteLook(session.home, { looked_at: clock.now(), latest });
  const { by, command } = installationOf(realpathSync(process.argv[1] ?? ''));
  const is_latest = latest === null ? null : !isNewer(latest, version);
  terminal.result({ version, latest, is_latest, installed_by: by, command }, view);
  return 0;
};

const view: View<Upgrade> = {
  lines: ({ version: own, latest, is_latest, command }, { paint }) => {
    if (is_latest) return [`farelock ${own} is the newest version.`];
    const news =
      latest === null ? 'unknown: the npm registry did not answer' : `${latest}, see the CHANGELOG for what changed`;
    return fieldLines(paint.dim, { Installed: own, Newest: news, Upgrade: command });
  },
};

const LOCKFILES: readonly (readonly [file: string, command: string])[] = [
  ['pnpm-lock.yaml', 'pnpm add farelock@latest'],
  ['yarn.lock', 'yarn add farelock@latest'],
];

/**
 * The origin of this copy of the tool, and the command that updates it.
 * @param script absolute path of bin/farelock.js, with links resolved
 */
export function installationOf(script: string): { by: Upgrade['installed_by']; command: string } {
  const path = script.replaceAll('\\', '/');
  const at = path.indexOf('/node_modules/');
  if (at < 0) return { by: 'checkout', command: 'git pull && npm run setup' };
  if (path.includes('/_npx/')) return { by: 'npx', command: 'npx farelock@latest' };
  if (/\/pnpm\/(?:\w+\/)*global\//i.test(path)) return { by: 'pnpm', command: 'pnpm add --global farelock@latest' };
  const folder = script.slice(0, at);
  if (!dependsOnIt(folder)) return { by: 'npm', command: 'npm install --global farelock@latest' };
  const [, command = 'npm install farelock@latest'] = LOCKFILES.find(([file]) => existsSync(join(folder, file))) ?? [];
  return { by: 'project', command };
}

/** True for a project that has farelock in package.json; false for the folder of global packages. */
function dependsOnIt(folder: string): boolean {
  try {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    ) as Record<string, object | undefined>;
    return 'farelock' in { ...dependencies, ...devDependencies, ...optionalDependencies };
  } catch {
    return false;
  }
}
