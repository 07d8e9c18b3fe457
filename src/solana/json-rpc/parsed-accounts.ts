import type { ChainAccount } from '../cluster.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import { decodeLookupTable, LOOKUP_TABLE_PROGRAM } from '../embedded/lookup-tables.ts';
import { decodeNonce } from '../embedded/nonce.ts';
import { mintOf, TOKEN_2022_PROGRAM, tokenAccountOf } from '../token.ts';
import { uiAmount } from './ui-amount.ts';

/** An account as `jsonParsed` shows it; null where the node cannot read its data. */
export function parsedAccount(ledger: EmbeddedLedger, account: ChainAccount): unknown {
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
    ...(token.delegate
      ? { delegate: token.delegate, delegatedAmount: uiAmount(token.delegatedAmount, decimals) }
      : {}),
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

/** Where the extensions of Token-2022 begin: behind a token account's fields, and a byte that says what it is. */
const EXTENSIONS_AT = 166;
/** Extensions that have no state of their own. The state of others is not read here. */
const WITHOUT_STATE: ReadonlyMap<number, string> = new Map([
  [7, 'immutableOwner'],
  [9, 'nonTransferable'],
  [13, 'nonTransferableAccount'],
  [27, 'pausableAccount'],
]);

function extensionsIn(data: Uint8Array): { readonly extension: string }[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
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
