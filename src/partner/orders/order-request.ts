import { isIP } from 'node:net';
import { refuse } from '../../http/index.ts';
import { cryptoSideOf, networkNamed, networkOfCurrency, type WalletType } from '../../kernel/domain/exchange-codes.ts';
import { problem } from '../../kernel/problems.ts';
import type { CreateOrderRequest } from '../../wire/partner/offers.ts';
import { quoteOf, railsOf } from '../../wire/partner/offers.ts';
import { findRow, type PartnerPorts } from '../base/index.ts';
import { openData } from '../compliance/index.ts';
import { loadWallets } from '../customer-data/index.ts';
import { isPublicAddress, type PartnerRow, refuseUnknownCodes, refuseZero } from '../platforms/index.ts';
import type { OrderRow } from './order-record.ts';

/** The columns of a checked order, and the note that is sealed with them: all that the outbound request needs. */
export type OrderRequest = Awaited<ReturnType<typeof checkedOrder>>;

const refused = (path: string, message: string): never => refuse([{ path, message }]);

/**
 * Checks a CreateOrder request against its partner and its customer. The network follows from the crypto currency
 * (`NETWORK_ASSET`). The bank account and the wallet on that network are the customer's own: the ones named by id, or
 * else the latest. A redirect partner knows none of our ids, so it gets the wallet's address.
 * @throws Problem `invalid_request`, naming the field; `order_outside_offer`
 */
export async function checkedOrder(
  ports: PartnerPorts,
  customerId: string,
  partner: PartnerRow,
  input: CreateOrderRequest,
) {
  refuseZero(input);
  const partners = await ports.store
    .selectFrom('partners')
    .select('offering')
    .where('environment', '=', ports.environment)
    .execute();
  refuseUnknownCodes(partners, input);
  refuseOutsideOffer(partner, input);
  const isIntegration = partner.type === 'INTEGRATION';
  if (isIntegration && input.walletAddress !== undefined)
    return refused('walletAddress', 'is for redirect partners: give customerWalletDataId.');
  const customerIp = addressOfUser(input.customerIp, ports.environment);
  if (!isIntegration && customerIp === null)
    return refused('customerIp', "is required for a redirect partner: the end user's IP address.");
  const network = networkOf(input);
  const verdict = input.walletAddress === undefined ? null : await addressVerdict(ports, input.walletAddress, network);
  if (verdict && 'wrong' in verdict) return refused('walletAddress', verdict.wrong);
  const address = verdict?.normal ?? null;
  const own = async (type: 'BANK_ACCOUNT' | 'CRYPTO_WALLET', path: keyof typeof input & `${string}DataId`) =>
    isIntegration || input[path] !== undefined ? ownData(ports, customerId, type, path, input[path], network) : null;
  const walletDataId = await own('CRYPTO_WALLET', 'customerWalletDataId');
  const ownAddress = isIntegration || walletDataId === null ? null : await addressOf(ports, customerId, walletDataId);
  if (address !== null && ownAddress !== null && address !== ownAddress)
    return refused('walletAddress', 'is not the address of customerWalletDataId: give only one of them.');
  const note = {
    walletAddress: address ?? ownAddress,
    // Only a redirect partner learns the end user's IP address.
    forwardedFor: isIntegration ? null : customerIp,
  };
  const columns = {
    partner_id: partner.partner_id,
    customer_id: customerId,
    begun_as: partner.type,
    platform_url: partner.platform_url,
    transaction_type: input.rampType,
    country_code: input.countryCode,
    source_currency: input.fromCurrency,
    source_amount: input.fromAmount,
    destination_currency: input.toCurrency,
    network,
    payment_method: input.paymentMethod,
    customer_payment_details_data_id: await own('BANK_ACCOUNT', 'customerPaymentDetailsDataId'),
    customer_wallet_data_id: walletDataId,
  };
  return { columns, note };
}

/** Refuses what the partner does not sell, before its platform is called. @throws Problem `order_outside_offer` */
function refuseOutsideOffer({ offering }: PartnerRow, input: CreateOrderRequest): void {
  const quote = quoteOf(railsOf(offering), input);
  if (quote.kind === 'quote') return;
  if (quote.kind === 'outside_limits') {
    const { minAmount, maxAmount, fromCurrency } = quote.rail;
    throw problem('order_outside_offer', {
      message: `The partner takes ${minAmount} to ${maxAmount} ${fromCurrency}.`,
      detail: { minAmount, maxAmount, currency: fromCurrency },
    });
  }
  if (quote.kind === 'too_fine')
    throw problem('order_outside_offer', {
      message: `The amount has more than ${quote.decimals} decimals.`,
      detail: { decimals: quote.decimals },
    });
  throw problem('order_outside_offer', {
    message: 'The partner does not offer this exchange in this country by this payment method.',
    detail: {},
  });
}

/** Normalises the end user's IP address. In live it must be public: a private one belongs to a machine on the way. */
function addressOfUser(given: string | undefined, environment: PartnerPorts['environment']): string | null {
  if (given === undefined) return null;
  const address = given.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(address) === 0 || address.includes('%')) return refused('customerIp', 'is not an IP address.');
  if (environment === 'live' && !isPublicAddress(address))
    return refused('customerIp', "must be a public address: the end user's own.");
  return address;
}

/** The network of the crypto currency. A network (or alias) that the request names must be the same. */
function networkOf(input: CreateOrderRequest): WalletType {
  const { path, code } = cryptoSideOf(input);
  const network = networkOfCurrency(code);
  if (network === null) return refused(path, 'is on a network that is not supported.');
  if (input.network !== undefined && networkNamed(input.network) !== network)
    return refused('network', `is not the network of ${path}: ${network}.`);
  return network;
}

/**
 * Finds the id of a customer's own data. Another customer's id is refused like an unknown one. A wallet must be on the
 * order's network: money sent to an address on another network is lost.
 */
async function ownData(
  { store }: PartnerPorts,
  customerId: string,
  type: 'BANK_ACCOUNT' | 'CRYPTO_WALLET',
  path: string,
  dataId: string | undefined,
  network: WalletType,
): Promise<string> {
  const row = await store
    .selectFrom('customer_data')
    .select('data_id')
    .where('customer_id', '=', customerId)
    .where('type', '=', type)
    .$if(type === 'CRYPTO_WALLET', (query) => query.where('network', '=', network))
    .$if(dataId !== undefined, (query) => query.where('data_id', '=', dataId ?? ''))
    .orderBy('rank', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row) return row.data_id;
  const words = type === 'BANK_ACCOUNT' ? 'a bank account' : `a crypto wallet on ${network}`;
  return refused(
    path,
    dataId === undefined
      ? `is required: the customer has not given ${words} yet (SubmitCustomerData).`
      : `is not ${words} of this customer.`,
  );
}

/** Opens the address of a customer's wallet. Purged data counts as never given. */
async function addressOf(ports: PartnerPorts, customerId: string, dataId: string): Promise<string> {
  const data = await openData(ports, ports.store, customerId, [dataId], { files: false });
  const address = data.get(dataId)?.cryptoWallet?.address;
  if (address === undefined) return refused('customerWalletDataId', 'is not a crypto wallet of this customer.');
  return address;
}

async function addressVerdict({ clock, environment }: PartnerPorts, address: string, network: WalletType) {
  const { walletAddress } = await loadWallets();
  return walletAddress(address, network, { nowMs: clock.now(), testNetworks: environment === 'demo' });
}

/** Says why a row must not be sent: its wallet is on another network. The row may be older than today's checks. */
export async function unsendable(ports: PartnerPorts, row: OrderRow, walletAddress: string | null) {
  const { transaction_type: rampType, source_currency: fromCurrency, destination_currency: toCurrency } = row;
  const network = networkOfCurrency(cryptoSideOf({ rampType, fromCurrency, toCurrency }).code);
  if (network === null) return 'its crypto currency is on a network that is not supported';
  if (walletAddress !== null && 'wrong' in (await addressVerdict(ports, walletAddress, network)))
    return `the address of its wallet is not one of ${network}`;
  if (row.customer_wallet_data_id === null) return null;
  const wallet = await findRow(ports.store, 'customer_data', {
    customer_id: row.customer_id,
    data_id: row.customer_wallet_data_id,
  });
  return wallet?.network === network ? null : `its wallet is not on ${network}`;
}
