import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ask, problemOf } from '../../../src/client/base/transport.ts';
import type { ClientStore } from '../../../src/client/journal/store.ts';
import type { PaidAnswer } from '../../../src/client/payer/delivery.ts';
import type { PaidExchange, Payer } from '../../../src/client/payer/payer.ts';
import { headerOf } from '../../../src/kernel/http.ts';
import { atomic, formatUsdc } from '../../../src/kernel/money.ts';
import type { Signer } from '../../../src/solana/signer.ts';

/** The cluster's address in the stock client's settings; it calls the machine's own fetch. */
const NODE = 'http://node.of.stock.sim';
let isRouted = false;
const nodes = new Map<string, typeof fetch>();

/** Leads the stock client's questions to the cluster of its world; everything else goes where it went. */
function route(url: string, node: typeof fetch): void {
  nodes.set(url, node);
  if (isRouted) return;
  isRouted = true;
  const before = globalThis.fetch;
  globalThis.fetch = (input, init) => (nodes.get(String(input)) ?? before)(input, init);
}

/** A payer that nobody here wrote: the protocol's own client. It keeps nothing: a lost answer is paid for once more. */
export function createStockPayer(given: {
  readonly who: string;
  readonly signer: Signer;
  readonly journal: Pick<ClientStore, 'remember'>;
  readonly rpc: typeof fetch;
}): Payer {
  const url = `${NODE}/${given.who}`;
  return {
    async send(exchange: PaidExchange, patience): Promise<PaidAnswer> {
      route(url, given.rpc);
      const protocol = new x402Client().register('solana:*', new ExactSvmScheme(given.signer, { rpcUrl: url }));
      // Its own cap of 1 USD would refuse every fare.
      protocol.setSpendControls(false);
      const client = new x402HTTPClient(protocol);
      const challenge = await ask(exchange, patience);
      if (challenge.status !== 402) throw problemOf(challenge);
      const required = client.getPaymentRequiredResponse((name) => headerOf(challenge, name) ?? null, challenge.body);
      const payment = await client.createPaymentPayload(required);
      const headers = { ...exchange.headers, ...client.encodePaymentSignatureHeader(payment) };
      const answer = await ask({ ...exchange, headers }, patience);
      if (answer.status >= 300) throw problemOf(answer);
      exchange.read(answer.body);
      // A person writes the support code down.
      const intent = exchange.remember?.(answer.body);
      if (intent) await given.journal.remember(intent);
      const settled = client.getPaymentSettleResponse((name) => headerOf(answer, name));
      const { amount, asset, network } = payment.accepted;
      return {
        body: answer.body,
        payment: { amount: formatUsdc(atomic(amount)), asset, network, transaction: settled.transaction },
      };
    },
  };
}
