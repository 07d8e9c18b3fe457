import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserType } from 'playwright-core';
import FLAGS from './chromium-flags.json' with { type: 'json' };
import { resolverRules } from './fence.ts';

/** The system's Chromium: a process of its own for each visit, so that what goes wrong in one touches no other. */

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const PLACES = [
  '/usr/lib/chromium/chromium',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Finds the browser: the one that is named, else the first of the usual names. null: there is none. */
export function findChromium(named: string | null | undefined): string | null {
  if (named) return canRun(named) ? named : null;
  const { PATH = '' } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...PLACES].find(canRun) ?? null;
}

const PREFIX = 'farelock-visit-';

/** Memory that each process of a browser may write to, in KiB; it takes some 700 MB before any page. */
const MOST_KIB = 2_000_000;
/** Leaves no core file, and no process that grows without end. Not every system knows the second limit. */
const BOUNDED = `ulimit -c 0; ulimit -d ${MOST_KIB} 2>/dev/null; exec "$0" "$@"`;

/** A folder in memory where the machine has a place for it; only for this user, and gone after the visit. */
function makeProfile(): string {
  const memory = '/dev/shm';
  const parent = existsSync(memory) && canRun(memory) ? memory : tmpdir();
  sweep(parent);
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
}

/** Removes profiles of processes that were killed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? 0);
    if (!(pid > 0) || isAlive(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It is another user's, in a folder that everybody writes into.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Starts a browser that can look up `hosts` alone, with flags that leave out what pages don't need: no traffic of its own,
 * no reports, nothing kept. It hangs on a pipe to this process, and ends with it. It writes no core file, which would
 * have a card in it.
 */
export async function launch(playwright: BrowserType, chromium: string, hosts: readonly string[]) {
  const profile = makeProfile();
  const isRoot = process.getuid?.() === 0;
  const flags = [
    ...FLAGS,
    ...(isRoot ? ['--no-sandbox'] : []),
    `--host-resolver-rules=${resolverRules(hosts)}`,
    `--user-data-dir=${profile}`,
  ];
  const { PATH = '' } = process.env;
  const onWindows = process.platform === 'win32';
  const removed = () => rmSync(profile, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
  try {
    const browser = await playwright.launch({
      executablePath: onWindows ? chromium : '/bin/sh',
      ignoreDefaultArgs: true,
      args: onWindows ? flags : ['-c', BOUNDED, chromium, ...flags],
      artifactsDir: profile,
      // Its files die with the profile; it inherits none of our environment.
      env: { PATH, HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' },
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: 30_000,
    });
    return {
      browser,
      /** Ends it, whatever state it is in, and removes what it has kept. */
      async close() {
        try {
          await browser.close();
        } finally {
          removed();
        }
      },
    };
  } catch (error) {
    removed();
    throw error;
  }
}
