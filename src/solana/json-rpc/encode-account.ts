import { getBase58Decoder } from '@solana/kit';
import { decimalOf } from '../../kernel/money.ts';
import type { ChainAccount } from '../cluster.ts';
import { decodeLookupTable, decodeNonce, type EmbeddedLedger, LOOKUP_TABLE_PROGRAM } from '../embedded/index.ts';
import { mintOf, TOKEN_2022_PROGRAM, tokenAccountOf, viewOf } from '../token.ts';
import { type AccountConfig, JsonRpcError } from './wire.ts';

/** Exact in `amount` and `uiAmountString`, rounded in `uiAmount`. */
export function uiAmount(amount: bigint, decimals: number) {
  const uiAmountString = decimalOf(amount, decimals);
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}

const MOST_BLOCK_BYTES = 128 * 1024;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const MOST_BASE58_BYTES = 128;

type AccountView = Pick<NonNullable<AccountConfig>, 'encoding' | 'dataSlice'>;

export function encodeAccount(ledger: EmbeddedLedger, account: ChainAccount, view: AccountView = {}) {
  return {
    data: encodeData(ledger, account, view),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner,
    rentEpoch: RENT_EXEMPT_EPOCH,
    space: account.data.length,
  };
}

function encodeData(ledger: EmbeddedLedger, account: ChainAccount, view: AccountView): unknown {
  const encoding = view.encoding ?? 'binary';
  const slice = view.dataSlice;
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data;
  switch (encoding) {
    case 'jsonParsed':
      return parsedAccount(ledger, account) ?? [Buffer.from(data).toString('base64'), 'base64'];
    case 'base64':
      return [Buffer.from(data).toString('base64'), encoding];
    case 'base64+zstd':
      return [Buffer.from(zstdFrame(data)).toString('base64'), encoding];
    default: {
      if (data.length > MOST_BASE58_BYTES) {
        throw new JsonRpcError(
          'invalid_request',
          'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
        );
      }
      const text = getBase58Decoder().decode(data);
      // The oldest form, which is also the default, is a bare string.
      return encoding === 'binary' ? text : [text, encoding];
    }
  }
}

/** A Zstandard frame of uncompressed blocks (RFC 8878, 3.1.1): Node 20 has no compressor. */
function zstdFrame(data: Uint8Array): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32LE(0xfd2fb528, 0);
  header[4] = 0xe0; // The content size in 8 bytes, one segment, no checksum, no dictionary.
  header.writeBigUInt64LE(BigInt(data.length), 5);
  const parts: Uint8Array[] = [header];
  for (let at = 0; at === 0 || at < data.length; at += MOST_BLOCK_BYTES) {
    const block = data.subarray(at, at + MOST_BLOCK_BYTES);
    const isLast = at + MOST_BLOCK_BYTES >= data.length ? 1 : 0;
    const blockHeader = Buffer.alloc(3);
    blockHeader.writeUIntLE((block.length << 3) | isLast, 0, 3);
    parts.push(blockHeader, block);
  }
  return Buffer.concat(parts);
}

/** Returns null if the data cannot be parsed for `jsonParsed`. */
function parsedAccount(ledger: EmbeddedLedger, account: ChainAccount): unknown {
  const read = parsedToken(ledger, account) ?? parsedNonce(account) ?? parsedTable(account);
  return read && { ...read, space: account.data.length };
}

interface Parsed {
  readonly program: string;
  readonly parsed: { readonly info: object; readonly type: string };
}

function parsedToken(ledger: EmbeddedLedger, account: ChainAccount): Parsed | null {
  const { owner, data } = account;
  const program = owner === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token';
  const extensions = extensionsIn(data);
  const more = extensions.length > 0 ? { extensions } : {};
  const mint = mintOf(account);
  if (mint) {
    const { decimals, freezeAuthority, mintAuthority, supply } = mint;
    const info = { decimals, freezeAuthority, isInitialized: true, mintAuthority, supply: String(supply) };
    return { program, parsed: { info: { ...info, ...more }, type: 'mint' } };
  }
  const token = tokenAccountOf(account);
  if (!token) return null;
  const decimals = decimalsOf(ledger, token.mint);
  const reserve = token.nativeReserve;
  const info = {
    ...(token.closeAuthority ? { closeAuthority: token.closeAuthority } : {}),
    ...(token.delegate ? { delegate: token.delegate, delegatedAmount: uiAmount(token.delegatedAmount, decimals) } : {}),
    ...more,
    isNative: reserve !== null,
    mint: token.mint,
    owner: token.owner,
    ...(reserve === null ? {} : { rentExemptReserve: uiAmount(reserve, decimals) }),
    state: token.state,
    tokenAmount: uiAmount(token.amount, decimals),
  };
  return { program, parsed: { info, type: 'account' } };
}

export function decimalsOf(ledger: EmbeddedLedger, mint: ChainAccount['address']): number {
  const account = ledger.account(mint);
  return (account && mintOf(account)?.decimals) ?? 0;
}

/** Token-2022 extensions begin after a token account's fields and a byte for the kind. */
const EXTENSIONS_AT = 166;

/** Extensions without state; the state of others is not read. */
const WITHOUT_STATE: ReadonlyMap<number, string> = new Map([
  [7, 'immutableOwner'],
  [9, 'nonTransferable'],
  [13, 'nonTransferableAccount'],
  [27, 'pausableAccount'],
]);

function extensionsIn(data: Uint8Array): { readonly extension: string }[] {
  const view = viewOf(data);
  const found: { readonly extension: string }[] = [];
  for (let at = EXTENSIONS_AT; at + 4 <= data.length; at += 4 + view.getUint16(at + 2, true)) {
    const kind = view.getUint16(at, true);
    if (kind === 0) break;
    found.push({ extension: WITHOUT_STATE.get(kind) ?? 'unparseableExtension' });
  }
  return found;
}

function parsedNonce(account: ChainAccount): Parsed | null {
  const nonce = decodeNonce(account);
  if (!nonce) return null;
  const feeCalculator = { lamportsPerSignature: String(nonce.lamportsPerSignature) };
  const info = { authority: nonce.authority, blockhash: nonce.value, feeCalculator };
  return { program: 'nonce', parsed: { info, type: 'initialized' } };
}

function parsedTable({ owner, data }: ChainAccount): Parsed | null {
  const table = owner === LOOKUP_TABLE_PROGRAM ? decodeLookupTable(data) : null;
  if (!table) return null;
  const { addresses, authority, deactivationSlot, lastExtendedSlot, lengthBefore } = table;
  const info = {
    addresses,
    ...(authority ? { authority } : {}),
    deactivationSlot: String(deactivationSlot),
    lastExtendedSlot: String(lastExtendedSlot),
    lastExtendedSlotStartIndex: lengthBefore,
  };
  return { program: 'address-lookup-table', parsed: { info, type: 'lookupTable' } };
}
