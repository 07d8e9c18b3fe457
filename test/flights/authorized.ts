import type { Address, TransactionPartialSigner } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { authCaptureClient } from '../../src/payments/auth-capture/index.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { type Answered, PASSENGER, type World } from './world.ts';

/** The plug-in of a stock client, which pays for bookings of a world by authorizations. */

export const PREFER: Record<string, string> = { Prefer: 'auth-capture' };

interface Challenge {
  readonly resource: unknown;
  readonly accepts: readonly (object & { scheme: string })[];
}

const signerOf = ({ address, sign }: World['wallet']) =>
  ({
    address,
    signTransactions: async (all: readonly { messageBytes: Uint8Array }[]) =>
      all.map(({ messageBytes }) => ({ [address]: sign(new Uint8Array(messageBytes)) })),
  }) as unknown as TransactionPartialSigner;

export function authorizing(world: World, payer = world.wallet, passengers = [PASSENGER]) {
  const { cluster, clock } = world;
  const scheme = authCaptureClient({
    ...{ signer: signerOf(payer), programs: [ESCROW_PROGRAM_ID], now: clock.now },
    latestBlockhash: () => cluster.latestBlockhash(),
  });

  /** The header that pays a challenge by the scheme. */
  async function sign(answer: Answered, change: object = {}): Promise<Record<string, string>> {
    const { accepts, resource } = answer.body as unknown as Challenge;
    const found = accepts.find((one) => one.scheme === 'auth-capture');
    if (!found) throw new Error('no auth-capture is offered');
    const accepted = { ...found, ...change };
    const { payload } = await scheme.createPaymentPayload(2, accepted as never, {} as never);
    const text = JSON.stringify({ x402Version: 2, resource, accepted, payload });
    return { ...PREFER, 'PAYMENT-SIGNATURE': Buffer.from(text).toString('base64') };
  }

  return {
    sign,

    /** Opens the authorization without the service: the payer lends its rents. */
    async authorizeAlone(answer: Answered): Promise<void> {
      await cluster.airdropSol(payer.address, 1_000_000_000n);
      const [accepted] = (answer.body as unknown as { accepts: { extra: object }[] }).accepts;
      const own = { ...accepted, extra: { ...accepted?.extra, feePayer: payer.address } };
      const { payload } = await scheme.createPaymentPayload(2, own as never, {} as never);
      await cluster.send(new Uint8Array(Buffer.from(String(payload.transaction), 'base64')));
    },

    /** An intent whose refund wallet pays. */
    intent: (offer: string) => world.intent(offer, { refund_wallet: payer.address }),
    ask: (made: Pick<CreatedIntent, 'intent_id'>, headers: Record<string, string> = PREFER, call = world.call) =>
      call('/air/book', { intent_id: made.intent_id, passengers }, { headers }),

    async book(made: Pick<CreatedIntent, 'intent_id'>, call = world.call): Promise<Answered> {
      const asked = await this.ask(made, PREFER, call);
      return asked.status === 402 ? this.ask(made, await sign(asked), call) : asked;
    },

    async placeOf(made: Pick<CreatedIntent, 'intent_id'>) {
      const { escrow_kind, escrow_address, vault_address } = await world.store
        .selectFrom('intents')
        .selectAll()
        .where('intent_id', '=', made.intent_id)
        .executeTakeFirstOrThrow();
      return { kind: escrow_kind, address: escrow_address as Address, vault: vault_address as Address };
    },
  };
}
