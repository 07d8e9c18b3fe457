import { once } from '../../../kernel/once.ts';
import { counted, padEnd, type Screen, wrap } from '../../../terminal/index.ts';
import { profileOf } from '../../session/index.ts';
import { type Profile, settingsFiles, wrongVariables } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  type Check,
  type DoctorReport,
  type Examined,
  examine,
  findingOf,
  ok,
  type Patient,
  warning,
} from './checks.ts';
import { chargingChecks, clusterChecks, walletChecks } from './clusters.ts';
import { machineChecks, privateFileChecks } from './computer.ts';
import { databaseChecks } from './databases.ts';
import { serviceChecks } from './reachable.ts';
import type * as spec from './spec.ts';

/**
 * Checks everything that commands depend on. Makes, changes and repairs nothing, and shows no key. Exit 0 if nothing
 * fails (there may be warnings), else 8.
 */
export const doctor: Run<typeof spec.doctor> = async (context, { full = false }) => {
  const { terminal, session, signal } = context;
  terminal.phase(full ? 'Checking, and reading the whole databases' : 'Checking');
  const { finding, profile } = await settingsOf(context);
  const checks: Examined[] = [
    { id: 'settings', ...finding },
    ...(await examine(checksFor(context, profile ?? session.profile, profile !== null, full), signal)),
  ];
  signal.throwIfAborted();
  const statuses = new Set(checks.map(({ status }) => status));
  const report: DoctorReport = {
    status: statuses.has('failed') ? 'failed' : statuses.has('warning') ? 'warning' : 'ok',
    home: session.home,
    profile: profile?.name ?? null,
    checks,
  };
  terminal.result(report, {
    lines: doctorLines,
    rows: ({ checks }) =>
      checks.map(({ id, status, message, fix, next }) => [status, id, message, fix, next.join('; ')]),
  });
  const wrong = checks.filter(({ status }) => status === 'failed').length;
  if (wrong > 0) terminal.aside(['', `${counted(wrong, 'check')} failed.`]);
  return wrong > 0 ? 8 : 0;
};

/** If settings conflict, this finding comes first; the other checks then run without them. */
async function settingsOf({ environment, globals, session, folder }: CommandContext) {
  try {
    const profile = await profileOf(environment, globals, session.home, folder);
    const files = settingsFiles(session.home, environment, folder ?? process.cwd());
    const from = [files.userFile, files.projectFile].filter((path) => path !== null).join(', ');
    const said = `Profile ${profile.name}${from && `, from ${from}`}`;
    const [note] = profile.notes;
    const [wrong] = wrongVariables(environment);
    if (wrong) return { profile, finding: findingOf(wrong.problem) };
    return {
      profile,
      finding: note === undefined ? ok(said) : warning(note, null, 'farelock config list --show-origin'),
    };
  } catch (error) {
    return { profile: null, finding: findingOf(error) };
  }
}

function checksFor(
  { environment, globals, session, clock }: CommandContext,
  profile: Profile,
  isKnown: boolean,
  full: boolean,
): Check[] {
  const patient: Patient = { home: session.home, environment, globals, clock, profile, full };
  const open = once(async () => {
    const { openRpcCluster } = await import('../../../solana/rpc/index.ts');
    return openRpcCluster({ ...profile, urls: profile.rpcUrls, clock });
  });
  return [
    ...machineChecks(patient),
    ...privateFileChecks(patient),
    ...databaseChecks(patient),
    // Without settings the cluster and the services are unknown.
    ...(isKnown
      ? [
          ...clusterChecks(patient, open),
          ...walletChecks(patient, open),
          ...serviceChecks(patient),
          ...chargingChecks(patient, open),
        ]
      : []),
  ];
}

const LABEL_CELLS = 18;

/** `✓ node  …`, with the fix under each trouble. */
function doctorLines({ checks }: DoctorReport, { paint, width }: Screen): string[] {
  const marks = { ok: paint.good('✓'), warning: paint.warn('!'), failed: paint.bad('✗') };
  return checks.flatMap(({ id, status, message, fix, next }) => {
    const [first = '', ...more] = wrap(message, width - LABEL_CELLS - 2);
    const under = ' '.repeat(LABEL_CELLS + 2);
    return [
      `${marks[status]} ${paint.dim(padEnd(id.replaceAll('_', ' '), LABEL_CELLS))}${first}`,
      ...more.map((line) => `${under}${line}`),
      ...(fix === null ? [] : wrap(fix, width - LABEL_CELLS - 2).map((line) => paint.dim(`${under}${line}`))),
      // A command is not wrapped, so that it can be copied.
      ...next.map((command) => paint.accent(`  $ ${command}`)),
    ];
  });
}
