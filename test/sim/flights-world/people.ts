import type { Address } from '@solana/kit';
import { getTransferInstruction } from '@solana-program/token';
import { isProblem, type Problem } from '../../../src/kernel/problems.ts';
import { associatedTokenAddress } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { createComputer } from '../world/computer.ts';
import type { Reached } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { type Stage, walletOf } from './stage.ts';
import { openTool, type Tool } from './tool.ts';

/** What somebody was told, by whom it holds from then on. */
export type Fact =
  | {
      readonly kind: 'paid';
      readonly who: string;
      readonly thing: string;
      readonly amount: string;
      readonly transaction: string;
    }
  | { readonly kind: 'intent'; readonly who: string; readonly intentId: string }
  | { readonly kind: 'ended'; readonly who: string; readonly intentId: string; readonly status: string }
  | { readonly kind: 'requested'; readonly who: string; readonly intentId: string }
  /** `by`: an affiliate; null: one's own code, which counts for nothing. */
  | { readonly kind: 'referred'; readonly who: string; readonly intentId: string; readonly by: string | null };

/** Finds the service that answers a request. */
export type Find = (place: string) => Reached | null;

/** Answers after which a person does not ask the same again. */
const FINAL = [
  'offer_expired',
  'offer_unavailable',
  'offer_not_found',
  'offer_repriced',
  'insufficient_funds',
  'terms_not_agreed',
  'escrow_mismatch',
  'funding_wallet_not_payer',
  'intent_expired',
  'intent_not_found',
  'intent_not_active',
  'booking_already_requested',
  'intent_already_exists',
  'refund_already_requested',
  'order_not_found',
  'daily_limit_reached',
  'invalid_request',
] as const;

const TRIES = 7;
const LONGEST_PAUSE_MS = 45_000;

export type Person = ReturnType<typeof createPerson>;

/** Somebody with a computer, who runs the tool's commands, and runs them again when they fail or die. */
export function createPerson(world: World, stage: Stage, name: string, find: Find, facts: Fact[], home = name) {
  const { chance } = world;
  const computer = createComputer(world, home, stage.journalOf(home));

  /** One run of a command; null when it died. */
  async function command<T>(label: string, run: (tool: Tool) => Promise<T>): Promise<{ value: T } | Problem | null> {
    const process = computer.boot(label);
    // What was printed was read, also where the command dies while it notes that.
    let printed = null as { value: T } | null;
    const died = new Promise<typeof printed>((resolve) => process.atEnd(() => resolve(printed)));
    const ran = (async () => {
      const tool = await openTool(world, stage, process, name, find, home);
      printed = { value: await run(tool) };
      await tool.shown();
      return printed;
    })().catch((error: unknown) => {
      if (isProblem(error)) return error;
      throw error;
    });
    const how = await Promise.race([ran, died]);
    process.end();
    if (isProblem(how)) {
      world.saw(`told: ${how.code}`);
      world.tell(name, `${label}: ${how.code}`);
    }
    return how;
  }

  return {
    name,
    home,
    computer,
    command,
    /** Until it works, or there is no sense in asking again. A person who gives up does so at the same moment each time. */
    async persist<T>(
      label: string,
      run: (tool: Tool) => Promise<T>,
      tries = TRIES,
    ): Promise<{ value: T } | Problem | null> {
      let last: { value: T } | Problem | null = null;
      for (let attempt = 1; attempt <= tries; attempt++) {
        last = await command(label, run);
        if (last !== null && !isProblem(last)) return last;
        if (isProblem(last, ...FINAL)) return last;
        await world.sleep(500 + chance.pauseMs(`${home} ${label} again ${attempt}`, LONGEST_PAUSE_MS));
      }
      world.tell(name, `gives up: ${label}`);
      return last;
    },
    paid(thing: string, payment: { readonly amount: string; readonly transaction: string } | null): void {
      if (payment) facts.push({ kind: 'paid', who: name, thing, ...payment });
    },
    fact: (fact: Fact): void => void facts.push(fact),
    /** Sends coins by hand, as anybody can. */
    async sends(to: Address, amount: bigint): Promise<void> {
      await sendCoins(stage, name, to, amount);
      world.touched('chain');
      world.tell(name, `sends ${Number(amount) / 1e6} to ${stage.names.get(to) ?? 'an escrow'} by hand`);
    },
  };
}

/** A transfer from somebody's wallet to a token account of `owner`, paid for by himself. */
async function sendCoins(stage: Stage, from: string, owner: Address, amount: bigint): Promise<void> {
  const { ledger } = stage;
  const signer = walletOf(from);
  const { wire } = buildTransaction({
    feePayer: signer,
    signers: [],
    blockhash: await ledger.latestBlockhash(),
    instructions: [
      getTransferInstruction({
        source: await associatedTokenAddress(signer.address, ledger.usdcMint),
        destination: await associatedTokenAddress(owner, ledger.usdcMint),
        authority: signer,
        amount,
      }),
    ],
  });
  try {
    await ledger.send(wire);
    stage.sentByHand.push({ from: signer.address, to: owner, amount });
  } catch (error) {
    if (!isProblem(error, 'transaction_failed')) throw error;
  }
}
