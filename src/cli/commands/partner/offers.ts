import { randomUUID } from 'node:crypto';
import { isProblem, reworded } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { listView, loadQr, type Screen } from '../../../terminal/index.ts';
import type {
  CreateOrderRequest,
  CreateOrderResponse,
  GetAvailablePartnersRequest,
  PartnerOffer,
} from '../../../wire/partner/index.ts';
import { confirmLive } from '../../session/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { alignedAmounts, orderLines } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

type Exchange = Pick<OptionsOf<typeof spec.partnerOffers>, 'country' | 'ramp' | 'from' | 'to' | 'amount' | 'method'>;

const exchangeOf = ({ country, ramp, from, to, amount, method }: Exchange) => ({
  countryCode: country,
  rampType: ramp,
  fromCurrency: from,
  toCurrency: to,
  fromAmount: amount,
  paymentMethod: method,
});

export const partnerOffers: Run<typeof spec.partnerOffers> = async ({ terminal, session, signal }, options) => {
  const { client } = await session.partner(options);
  const request: GetAvailablePartnersRequest = {
    ...exchangeOf(options),
    ...(options.type !== undefined && { partnerTypes: [...options.type] }),
  };
  const offers = await client.offers(request, { signal });
  terminal.result(offers, offersView(options.to));
  const [best] = offers.partners;
  if (best) {
    const { country, ramp, from, to, amount, method } = options;
    terminal.aside([
      '',
      ...nextLines(
        `farelock partner orders create ${quoted(best.partnerId)} --country ${quoted(country)} --ramp ${quoted(ramp.toLowerCase())} --from ${quoted(from)} --to ${quoted(to)} --amount ${quoted(amount)} --method ${quoted(method)}${best.type === 'REDIRECT' ? ' --customer-ip <address>' : ''}`,
      ),
    ]);
  }
  return 0;
};

/** Creates an order for a customer. With a redirect partner, the customer continues on the partner's site. */
export const orderCreate: Run<typeof spec.partnerOrdersCreate> = async (context, options) => {
  const { terminal, session, signal, globals } = context;
  await session.work();
  const access = await session.partner(options);
  const request: CreateOrderRequest = {
    partnerId: options.partnerId,
    ...exchangeOf(options),
    ...(options.network !== undefined && { network: options.network }),
    ...(options.paymentDetailsDataId !== undefined && { customerPaymentDetailsDataId: options.paymentDetailsDataId }),
    ...(options.walletDataId !== undefined && { customerWalletDataId: options.walletDataId }),
    ...(options.walletAddress !== undefined && { walletAddress: options.walletAddress }),
    ...(options.customerIp !== undefined && { customerIp: options.customerIp }),
  };
  if (globals.dryRun) {
    const { from, amount, to, partnerId } = options;
    // This call makes the same checks of codes, limits and country, and changes nothing.
    const { partners } = await access.client.offers(exchangeOf(options), { signal });
    const offer = partners.find((one) => one.partnerId === partnerId);
    const receives = offer?.toAmount === undefined ? to : `about ${offer.toAmount} ${to}`;
    const step = offer
      ? `Order with ${partnerId}: ${amount} ${from} for ${receives}. In the ${await access.environment()} environment.`
      : `Be refused: ${partnerId} does not offer ${amount} ${from} for ${to} by ${options.method} in ${options.country}.`;
    printPlan(terminal, [step], { request });
    return offer ? 0 : 8;
  }
  const question = `Order ${options.amount} ${options.from} for ${options.to} with ${options.partnerId}?`;
  await confirmLive(context, access, options.live === true, question);
  const idempotencyKey = options.idempotencyKey ?? randomUUID();
  terminal.phase('Ordering');
  try {
    const created = await access.client.createOrder(request, { signal, idempotencyKey });
    const { order, ...redirect } = created;
    const qr = await redirectQr(context, redirect.redirectUrl);
    terminal.result(order ?? redirect, { lines: (_shown, screen) => createdLines(created, screen, qr) });
    if (order) terminal.aside(['', ...nextLines(`farelock partner orders watch ${quoted(order.id)}`)]);
    return 0;
  } catch (error) {
    if (!isProblem(error) || error.kind.retryable !== true) throw error;
    // The order may have been made all the same.
    throw reworded(error, {
      fix: `Run the same command again with --idempotency-key ${idempotencyKey}: it makes no second order.`,
    });
  }
};

/** Draws the address as a QR code, for a customer who continues on a phone. */
async function redirectQr({ terminal, streams }: CommandContext, url: string | undefined) {
  if (url === undefined || terminal.settings.json || !streams.stdout.isTTY) return null;
  const { qrLines } = await loadQr();
  return qrLines(url, terminal.screen);
}

const offersView = (currency: string) =>
  listView('partners', {
    none: 'No partner offers match.',
    columns({ width }, partners) {
      const amounts = alignedAmounts(partners.map((offer) => offer.toAmount));
      const terms = { title: 'Terms', cuts: true, cell: ({ termsUrl }: PartnerOffer) => termsUrl };
      return [
        { title: `Receives ${currency}`, align: 'right', cell: (_offer, index) => amounts[index] ?? '' },
        { title: 'Partner', cuts: true, cell: ({ partnerName }) => partnerName },
        { title: 'Partner id', cell: ({ partnerId }) => partnerId },
        { title: 'Kind', cell: ({ type }) => kindWords(type) },
        ...(width >= 110 ? [terms] : []),
      ];
    },
    row: (offer: PartnerOffer) => [offer.partnerId, offer.partnerName, offer.toAmount, offer.type, offer.termsUrl],
  });

const kindWords = (type: string): string =>
  type === 'REDIRECT' ? 'at the partner' : type === 'INTEGRATION' ? 'here' : '–';

function createdLines(created: CreateOrderResponse, screen: Screen, qr: readonly string[] | null): string[] {
  const { order, redirectUrl, toAmount, orderId } = created;
  if (order) return orderLines(order, screen);
  const { paint } = screen;
  return [
    `${paint.good('✓')} The customer continues at the partner${toAmount ? `, and receives ${toAmount}` : ''}:`,
    redirectUrl === undefined ? '–' : paint.accent(paint.link(redirectUrl, redirectUrl)),
    ...(orderId === undefined ? [] : [paint.dim(`Redirection ${orderId}`)]),
    ...(qr === null ? [] : ['', ...qr]),
  ];
}
