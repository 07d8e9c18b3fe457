import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { BrowserType } from 'playwright-core';
import { problem } from '../../../kernel/problems.ts';
import { missingPackage } from '../recipes/index.ts';
import FLAGS from './chromium-flags.json' with { type: 'json' };
import { resolverRules } from './fence.ts';

/** Starts the system's Chromium, in a process of its own for each visit. */

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

/** Finds the named browser, else the first of the usual names. */
export function findChromium(named: string | null | undefined): string | null {
  if (named) return canRun(named) ? named : null;
  const { PATH = '' } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...PLACES].find(canRun) ?? null;
}

const browserMissing = (what: string) =>
  problem('browser_missing', { message: `No browser can visit the web sites of carriers: ${what}.` });

/** Finds the browser, and checks that its packages are installed. @throws Problem `browser_missing` */
export function needBrowser(named: string | null | undefined, packages?: readonly string[]): string {
  const chromium = findChromium(named);
  if (chromium === null)
    throw browserMissing(named ? `${named} is no program that can be run` : 'there is no Chromium');
  const missing = missingPackage(packages);
  if (missing !== null) throw browserMissing(`the package ${missing} is not installed`);
  return chromium;
}

const PREFIX = 'farelock-visit-';

/** A browser process's memory limit in KiB; it takes some 700 MB before any page. */
const MOST_KIB = 2_000_000;
/** Prevents core files and unlimited growth; some systems lack the second limit. */
const BOUNDED = `ulimit -c 0; ulimit -d ${MOST_KIB} 2>/dev/null; exec "$0" "$@"`;

/** Makes a private folder for the visit, in memory where possible. */
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
      // The folder belongs to another user.
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

const HEADLESS: ReadonlySet<string> = new Set(['--headless', '--no-startup-window', '--hide-scrollbars']);

/** Variables of the screen, for a visible browser. */
const displayOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR'].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/**
 * Starts a browser that sends nothing by itself, keeps no data, and ends with this process (its pipe closes). It writes
 * no core file, which could contain a card.
 * @param hosts the only hosts that it resolves; null for all, in a recording
 */
export async function launch(
  playwright: BrowserType,
  chromium: string,
  hosts: readonly string[] | null,
  { isHeaded = false } = {},
) {
  const profile = makeProfile();
  const isRoot = process.getuid?.() === 0;
  const flags = [
    ...FLAGS.filter((flag) => !isHeaded || !HEADLESS.has(flag)),
    ...(isRoot ? ['--no-sandbox'] : []),
    ...(hosts === null ? [] : [`--host-resolver-rules=${resolverRules(hosts)}`]),
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
      env: { PATH, HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8', ...(isHeaded && displayOf(process.env)) },
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      timeout: 30_000,
    });
    return {
      browser,
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
