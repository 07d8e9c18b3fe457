import { BUDGET_WINDOW_MS } from '../../../client/base/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { fieldLines } from '../../../terminal/index.ts';
import {
  isProfileName,
  KEPT_NAMES,
  type KeptName,
  readSetting,
  rowOf,
  type SettingValues,
  textsOf,
  USUAL_PER_CALL,
} from '../../settings/index.ts';
import type { Run } from '../../spec/index.ts';
import { changed, withProfile } from '../config/index.ts';
import type * as spec from './spec.ts';

export const limitsShow: Run<typeof spec.walletLimitsShow> = async ({ terminal, session }) => {
  const { limits, name } = session.profile;
  const { address } = await session.wallet();
  const { network } = await session.cluster();
  const spent = await (await session.store()).spent(address, network, BUDGET_WINDOW_MS);
  const said = (amount: bigint | null): string | null => (amount === null ? null : formatUsdc(amount));
  const left = limits.perDay === null ? null : limits.perDay > spent ? limits.perDay - spent : 0n;
  terminal.result(
    {
      profile: name,
      wallet: address,
      network,
      per_call: said(limits.perCall) ?? USUAL_PER_CALL,
      per_day: said(limits.perDay),
      booking: said(limits.booking),
      hosts: limits.hosts,
      signed_24h: formatUsdc(spent),
      left_24h: said(left),
    },
    {
      lines: (shown, { paint }) =>
        fieldLines(paint.dim, [
          ['A call', `${paint.usdc(shown.per_call)} without asking`],
          [
            '24 hours',
            shown.per_day === null
              ? `no limit; ${paint.usdc(shown.signed_24h)} signed`
              : `${paint.usdc(shown.per_day)}; ${shown.signed_24h} signed, ${shown.left_24h ?? ''} left`,
          ],
          ['A booking', `${shown.booking === null ? 'no limit' : paint.usdc(shown.booking)}; each one asks`],
          ['Hosts', shown.hosts === null ? 'the service of the profile' : shown.hosts.join(', ') || 'none'],
          ['Wallet', shown.wallet],
        ]),
      rows: (shown) => [
        ['per_call', shown.per_call],
        ['per_day', shown.per_day],
        ['booking', shown.booking],
        ['hosts', shown.hosts?.join(',') ?? null],
        ['signed_24h', shown.signed_24h],
        ['left_24h', shown.left_24h],
      ],
    },
  );
  return 0;
};

/** Sets limits of the profile that --profile names, or of all profiles without limits of their own. */
export const limitsSet: Run<typeof spec.walletLimitsSet> = async (context, options) => {
  const { globals } = context;
  const changes = changesIn(options);
  const profile = globals.profile !== undefined && isProfileName(globals.profile) ? globals.profile : null;
  const change = (own: SettingValues): SettingValues => {
    const after = { ...own };
    for (const [name, value] of changes) {
      if (value === null) delete after[name];
      else after[name] = value;
    }
    return after;
  };
  const said = changes.map(([name, value]) => `${name} ${value ?? 'none'}`);
  return changed(
    context,
    said.map((one) => `Set ${one}.`),
    (settings) =>
      profile === null ? { ...settings, limits: change(settings.limits) } : withProfile(settings, profile, change),
    { profile, limits: Object.fromEntries(changes.map(([name, value]) => [name.slice(7), value])) },
    `${said.join(', ')}${profile === null ? '' : ` for profile ${profile}`}`,
  );
};

function changesIn(options: object): [KeptName, string | null][] {
  const texts = textsOf(options);
  const limits = KEPT_NAMES.filter((name) => rowOf(name).of === 'limits');
  const changes = limits.flatMap((name): [KeptName, string | null][] => {
    const text = texts[name];
    if (text === undefined) return [];
    return [[name, text === 'none' ? null : readSetting(name, text, rowOf(name).flag ?? name)]];
  });
  if (changes.length > 0) return changes;
  throw problem('usage', {
    message: 'Nothing to set.',
    fix: `Use ${limits.map((name) => rowOf(name).flag).join(', ')}.`,
  });
}
