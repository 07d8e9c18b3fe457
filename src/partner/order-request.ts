import { problem } from '../kernel/problems.ts';
import type { PartnerTable } from '../store/partner-tables.ts';
import { unitsOf } from './decimal.ts';
import type { CreateOrderRequest } from './offer-schema.ts';
import { amountIsZero } from './offers.ts';
import type { PartnerPorts } from './ports.ts';
import { walletNetwork } from './wanted-orders.ts';

/** What a customer asked for, checked: everything that the outbound request needs. */
export interface OrderRequest {
  readonly partnerId: string;
  readonly customerId: string;
  readonly countryCode: string;
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  readonly fromCurrency: string;
  readonly toCurrency: string;
  readonly fromAmount: string;
  readonly paymentMethod: string;
  readonly network: string;
  readonly paymentDetailsDataId: string | null;
  readonly walletDataId: string | null;
  readonly walletAddress: string | null;
}

const refused = (path: string, message: string) =>
  problem('invalid_request', { detail: { issues: [{ path, message }] } });

/**
 * Checks a CreateOrder request against its partner and its customer. The network follows from the crypto currency
 * (`NETWORK_ASSET`). The bank account and the wallet are the customer's own, by id, or the ones given last. A redirect partner, which knows
 * none of our ids, is told the wallet's address.
 * @throws Problem `invalid_request`, naming the field
 */
export async function checkedOrder(
  ports: Pick<PartnerPorts, 'store' | 'secrets' | 'ids' | 'clock' | 'environment'>,
  customerId: string,
  partner: Pick<PartnerTable, 'partner_id' | 'type'>,
  input: CreateOrderRequest,
): Promise<OrderRequest> {
  if (unitsOf(input.fromAmount) === 0n) throw amountIsZero();
  if (input.fromCurrency === input.toCurrency)
    throw refused('toCurrency', 'is not the currency that is given.');
  const isIntegration = partner.type === 'INTEGRATION';
  if (isIntegration && input.walletAddress !== undefined)
    throw refused('walletAddress', 'is for redirect partners: give customerWalletDataId.');
  const network = networkOf(input);
  if (input.walletAddress !== undefined) await checkAddress(ports, input.walletAddress, network);
  const own = (type: 'BANK_ACCOUNT' | 'CRYPTO_WALLET', path: string, dataId: string | undefined) =>
    isIntegration || dataId !== undefined
      ? ownData(ports, customerId, { type, path, dataId, network })
      : Promise.resolve(null);
  const walletDataId = await own('CRYPTO_WALLET', 'customerWalletDataId', input.customerWalletDataId);
  const ownAddress =
    isIntegration || walletDataId === null ? null : await addressOf(ports, customerId, walletDataId);
  if (input.walletAddress !== undefined && ownAddress !== null && input.walletAddress !== ownAddress)
    throw refused('walletAddress', 'is not the address of customerWalletDataId: give one of them.');
  return {
    partnerId: partner.partner_id,
    customerId,
    countryCode: input.countryCode,
    rampType: input.rampType,
    fromCurrency: input.fromCurrency,
    toCurrency: input.toCurrency,
    fromAmount: input.fromAmount,
    paymentMethod: input.paymentMethod,
    network,
    paymentDetailsDataId: await own(
      'BANK_ACCOUNT',
      'customerPaymentDetailsDataId',
      input.customerPaymentDetailsDataId,
    ),
    walletDataId,
    walletAddress: input.walletAddress ?? ownAddress,
  };
}

function networkOf(input: CreateOrderRequest): string {
  const [path, crypto] =
    input.rampType === 'ONRAMP'
      ? (['toCurrency', input.toCurrency] as const)
      : (['fromCurrency', input.fromCurrency] as const);
  const match = /^([A-Z0-9]+)_[A-Z0-9.]+$/i.exec(crypto);
  const network = match?.[1] ?? input.network;
  if (network === undefined)
    throw refused(path, 'is a crypto currency with its network, such as SOLANA_USDC; or give network.');
  if (input.network !== undefined && input.network.toUpperCase() !== network.toUpperCase())
    throw refused('network', `is not the network of ${path}.`);
  return network;
}

interface WantedData {
  readonly type: 'BANK_ACCOUNT' | 'CRYPTO_WALLET';
  readonly path: string;
  readonly dataId: string | undefined;
  readonly network: string;
}

/**
 * Another customer's data is no data: whoever knows its id learns nothing. And a wallet is on the order's network:
 * what is sent to an address of another one is lost.
 */
async function ownData(
  { store }: Pick<PartnerPorts, 'store'>,
  customerId: string,
  { type, path, dataId, network }: WantedData,
): Promise<string> {
  const chain = type === 'CRYPTO_WALLET' ? walletNetwork(network) : null;
  const row = await store
    .selectFrom('customer_data')
    .select('data_id')
    .where('customer_id', '=', customerId)
    .where('type', '=', type)
    .$if(chain !== null, (query) => query.where('network', '=', chain))
    .$if(dataId !== undefined, (query) => query.where('data_id', '=', dataId ?? ''))
    .orderBy('rank', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row) return row.data_id;
  const words =
    type === 'BANK_ACCOUNT' ? 'a bank account' : `a crypto wallet${chain === null ? '' : ` on ${chain}`}`;
  throw refused(
    path,
    dataId === undefined
      ? `is required: the customer has not given ${words} yet (SubmitCustomerData).`
      : `is not ${words} of this customer.`,
  );
}

/** The address of a customer's wallet. Purged in the meantime, it is data that the customer has not given. */
async function addressOf(
  ports: Pick<PartnerPorts, 'store' | 'secrets' | 'ids'>,
  customerId: string,
  dataId: string,
): Promise<string> {
  const { createSubmissions } = await import('./submissions.ts');
  const data = await createSubmissions(ports).open(ports.store, customerId, dataId, { files: false });
  const address = data?.cryptoWallet?.address;
  if (address === undefined)
    throw refused('customerWalletDataId', 'is not a crypto wallet of this customer.');
  return address;
}

/** An address that is given for one order is held to its chain's encoding, as a customer's own wallets are. */
async function checkAddress(
  { clock, environment }: Pick<PartnerPorts, 'clock' | 'environment'>,
  address: string,
  network: string,
): Promise<void> {
  const chain = walletNetwork(network);
  if (chain === null) return;
  const { walletAddress } = await import('./customer-data/wallets.ts');
  const verdict = walletAddress(address, chain, {
    nowMs: clock.now(),
    testNetworks: environment === 'demo',
  });
  if ('wrong' in verdict) throw refused('walletAddress', verdict.wrong);
}
