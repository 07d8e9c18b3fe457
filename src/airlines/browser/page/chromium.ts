import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserType } from 'playwright-core';
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

/** Each process of a browser may map so much to write to, in KiB; some 700 MB of it before any page. A page that wants more fails. */
const MOST_KIB = 2_000_000;
/** Nothing is left of it on a disk; no process of it grows without end. Not every system knows the second limit. */
const BOUNDED = `ulimit -c 0; ulimit -d ${MOST_KIB} 2>/dev/null; exec "$0" "$@"`;

/** In memory where the machine has a place for it; only for this user, and gone after the visit. */
function makeProfile(): string {
  const memory = '/dev/shm';
  const parent = existsSync(memory) && canRun(memory) ? memory : tmpdir();
  sweep(parent);
  return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
}

/** Profiles of processes that were killed. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1] ?? 0);
    if (!(pid > 0) || isAlive(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Somebody else's, in a folder that everybody writes into.
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

/** Nothing that the pages don't need: no traffic of the browser's own, no reports, nothing kept. */
const FLAGS = [
  '--headless',
  '--no-startup-window',
  '--remote-debugging-pipe',
  '--disable-gpu',
  '--disable-field-trial-config',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-component-extensions-with-background-pages',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-stack-profiler',
  '--disable-hang-monitor',
  '--disable-notifications',
  '--disable-print-preview',
  '--disable-search-engine-choice-screen',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--disable-back-forward-cache',
  '--disable-prompt-on-repost',
  '--disable-quic',
  '--disable-speech-api',
  '--deny-permission-prompts',
  '--dns-prefetch-disable',
  '--force-color-profile=srgb',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--hide-scrollbars',
  '--js-flags=--max-old-space-size=512',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--no-proxy-server',
  '--no-service-autorun',
  '--noerrdialogs',
  '--password-store=basic',
  '--renderer-process-limit=4',
  '--use-mock-keychain',
  `--disable-features=${[
    ...['AimEnabled', 'AutofillServerCommunication', 'AvoidCorsURLLoaderRestartOnRedirect'],
    ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
    ...['HttpsFirstBalancedModeAutoEnable', 'InterestFeedContentSuggestions', 'LensOverlay', 'MediaRouter'],
    ...['NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch', 'Translate'],
    ...['ThirdPartyStoragePartitioning', 'WebRtcHideLocalIpsWithMdns'],
  ].join(',')}`,
  '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies',
];

export interface Launched {
  readonly browser: Browser;
  /** Ends it, whatever state it is in, and removes what it has kept. */
  close(): Promise<void>;
}

/**
 * Starts a browser that can look up `hosts` alone. It hangs on a pipe to this process: with the process, however that
 * ends, the browser ends. It writes no core file, which would have a card in it.
 */
export async function launch(playwright: BrowserType, chromium: string, hosts: readonly string[]): Promise<Launched> {
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
      // Whatever it keeps by itself goes with the profile; no variable of ours goes to it.
      env: { PATH, HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' },
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
