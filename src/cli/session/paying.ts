import type { PaymentRequest, ProgramTrust, Spender, SpendingPolicy } from '../../client/base/index.ts';
import type { ClientStore, OpenPayment, PaymentRecord } from '../../client/journal/index.ts';
import { loadPayer, loadPayerPlan, type Payer, type PayerPorts } from '../../client/payer/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock, shell } from '../../kernel/shell-word.ts';
import { SOLANA_NETWORKS } from '../../solana/index.ts';
import type { Terminal } from '../../terminal/index.ts';
import { type GlobalOptions, loadWrite, type Profile } from '../settings/index.ts';

/** The payments that this run signed, sent again, or got answers for: an interruption lists them. */
export function openPaidHere(store: () => Promise<Pick<ClientStore, 'payment' | 'shown'>>) {
  const ids = new Set<string>();
  return {
    note: (paymentId: string): void => void ids.add(paymentId),
    get ids(): readonly string[] {
      return [...ids];
    },
    /** Notes that the person has seen the bought answers: the same calls cost again from now on. */
    async shown(): Promise<void> {
      if (ids.size > 0) await (await store()).shown([...ids]);
    },
    /** The payments as the journal has them now, in the order in which they were noted. */
    async records(): Promise<readonly PaymentRecord[]> {
      if (ids.size === 0) return [];
      const journal = await store();
      const found = await Promise.all([...ids].map((id) => journal.payment(id)));
      return found.flatMap((one) => one ?? []);
    },
  };
}

/** Opens a payer; the first paid call loads its code, wallet, cluster and journal. Under --dry-run it has no key. */
export function openPayer({
  profile,
  store,
  noted,
  hasWallet,
  isDryRun,
  ...ports
}: Omit<PayerPorts, 'journal' | 'network' | 'usdcMint'> & {
  readonly profile: Pick<Profile, 'name' | 'isProjectsChoice'>;
  readonly store: () => Promise<ClientStore>;
  /** Called for every payment that is signed or sent again, before it leaves. */
  readonly noted: (paymentId: string) => void;
  /** True if there is a wallet: a dry run makes none. */
  readonly hasWallet: () => boolean;
  readonly isDryRun: boolean;
}): Payer {
  return {
    async send(exchange, patience, options) {
      const { network, usdcMint } = await ports.cluster();
      checkChoice(profile, network);
      const common = { ...ports, network, usdcMint, journal: async () => notedBy(await store(), noted) };
      if (isDryRun) {
        const { createPlanner } = await loadPayerPlan();
        const wallet = async () => (hasWallet() ? (await ports.signer()).address : null);
        const planner = createPlanner({ ...common, trust: { ...ports.trust, accept: null }, wallet });
        return planner.send(exchange, patience, options);
      }
      const { createPayer } = await loadPayer();
      const answer = await createPayer(common).send(exchange, patience, options);
      if (answer.isKept) ports.warn?.('Already paid but not shown until now: nothing more was charged.');
      return answer;
    },
  };
}

/** Wraps the journal to report each payment before it is sent. */
function notedBy(store: ClientStore, noted: (paymentId: string) => void): ClientStore {
  const reported = <T extends OpenPayment | undefined | null>(open: T): T => {
    if (open) noted(open.id);
    return open;
  };
  return {
    ...store,
    open: async (identity) => reported(await store.open(identity)),
    write: async (payment) => reported(await store.write(payment)),
  };
}

/** Refuses to spend real money on a profile that a project file chose: cloning a repository is no consent. */
function checkChoice({ name, isProjectsChoice }: Pick<Profile, 'name' | 'isProjectsChoice'>, network: string) {
  if (!isProjectsChoice || network !== SOLANA_NETWORKS.mainnet) return;
  throw problem('payment_declined', {
    message: `Profile ${name} pays real money, and a project file has chosen it.`,
    fix: `Choose it yourself: --profile ${name}.`,
  });
}

/** The programs and keys that the person trusts, by the settings or by an answer, which is saved in the profile. */
export function trustOf(given: {
  readonly profile: Pick<Profile, 'name' | 'isEmbedded' | 'escrowPrograms' | 'upgradeAuthorities'>;
  readonly home: string;
  readonly clock: Clock;
  readonly terminal: Terminal;
}): ProgramTrust {
  const { profile, terminal } = given;
  const accepted = new Set<string>(profile.upgradeAuthorities);
  return {
    isOwnCluster: profile.isEmbedded,
    programs: profile.escrowPrograms,
    isAccepted: (authority) => accepted.has(authority),
    accept: terminal.canAsk
      ? async (program, authority) => {
          terminal.review([
            `The service's escrow program ${program} is the shipped one.`,
            `But ${authority} can replace it at any time, and take what is in its escrows.`,
          ]);
          if (!(await terminal.ask('--yes').confirm('Do you trust this key?', false))) return false;
          accepted.add(authority);
          await remember(given, authority);
          return true;
        }
      : null,
    acceptCommand: (authority) =>
      profile.name === 'environment'
        ? shell`export FARELOCK_UPGRADE_AUTHORITIES=${[...accepted, authority].join(',')}`
        : farelock`config set upgrade_authorities ${[...accepted, authority].join(',')} --profile ${profile.name}`,
  };
}

async function remember(
  { profile, home, clock, terminal }: Parameters<typeof trustOf>[0],
  authority: string,
): Promise<void> {
  const { changeUserSettings } = await loadWrite();
  await changeUserSettings(home, clock, (settings) => {
    const own = settings.profiles[profile.name] ?? {};
    const all = [...(own.upgrade_authorities?.split(',') ?? []), authority];
    return {
      ...settings,
      profiles: { ...settings.profiles, [profile.name]: { ...own, upgrade_authorities: [...new Set(all)].join(',') } },
    };
  });
  terminal.note(`Remembered in upgrade_authorities of profile ${profile.name}.`);
}

type Person = Pick<Spender, 'allowance' | 'agreed'> & { readonly globals: GlobalOptions; readonly terminal: Terminal };

/** The limits and consents of the person at the keyboard, or of the program that drives the tool. */
export const spenderOf = (
  { globals, terminal, allowance, agreed }: Person,
  { limits, isEmbedded }: Pick<Profile, 'limits' | 'isEmbedded'>,
): Spender => ({
  // The embedded service has no host that could be the wrong one.
  limits: isEmbedded ? { ...limits, hosts: null } : limits,
  most: globals.maxPayment,
  saysYes: globals.yes === true,
  canAsk: terminal.canAsk,
  agreed,
  allowance,
});

export const spendingPolicy = (person: Person, profile: Profile): SpendingPolicy => ({
  ...spenderOf(person, profile),
  ask: (request) => askPerson(request, person),
});

async function askPerson(request: PaymentRequest, { terminal, globals }: Person): Promise<boolean> {
  const { resource, host, amount, warning } = request;
  if (warning !== undefined) {
    terminal.note(warning);
    return globals.yes === true || terminal.ask('--yes').confirm('Pay anyway?', false);
  }
  // A booking is agreed to before it is paid, after a review (confirm.ts).
  if (request.kind === 'booking') return false;
  const question = `${resource} at ${host} costs ${terminal.usdc(amount)}, more than usual. Pay it?`;
  return terminal.ask('--max-payment <usdc>').confirm(question, false);
}
