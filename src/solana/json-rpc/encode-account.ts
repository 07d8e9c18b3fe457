import { getBase58Decoder } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import { decodeMint, decodeTokenAccount, TOKEN_PROGRAM } from '../token.ts';
import type { AccountEncoding } from './params.ts';
import { INVALID_REQUEST, JsonRpcError } from './wire.ts';
import { zstdFrame } from './zstd-frame.ts';

const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const MOST_BASE58_BYTES = 128;

interface AccountView {
  readonly encoding?: AccountEncoding | null | undefined;
  readonly dataSlice?: { readonly offset: number; readonly length: number } | null | undefined;
}

/** An account as getAccountInfo shows it. */
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
      return parseAccount(ledger, account) ?? [Buffer.from(data).toString('base64'), 'base64'];
    case 'base64':
      return [Buffer.from(data).toString('base64'), encoding];
    case 'base64+zstd':
      return [Buffer.from(zstdFrame(data)).toString('base64'), encoding];
    default: {
      if (data.length > MOST_BASE58_BYTES) {
        throw new JsonRpcError(
          INVALID_REQUEST,
          'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
        );
      }
      const text = getBase58Decoder().decode(data);
      // The oldest form, which is also the default, is a bare string.
      return encoding === 'binary' ? text : [text, encoding];
    }
  }
}

function parseAccount(ledger: EmbeddedLedger, { owner, data }: ChainAccount): unknown {
  if (owner !== TOKEN_PROGRAM) return null;
  const mint = decodeMint(data);
  if (mint) {
    const { decimals, freezeAuthority, mintAuthority, supply } = mint;
    const info = { decimals, freezeAuthority, isInitialized: true, mintAuthority, supply: String(supply) };
    return { program: 'spl-token', parsed: { info, type: 'mint' }, space: data.length };
  }
  const token = decodeTokenAccount(data);
  if (!token) return null;
  const decimals = decimalsOf(ledger, token.mint);
  const reserve = token.nativeReserve;
  const info = {
    ...(token.closeAuthority ? { closeAuthority: token.closeAuthority } : {}),
    ...(token.delegate
      ? { delegate: token.delegate, delegatedAmount: uiAmount(token.delegatedAmount, decimals) }
      : {}),
    isNative: reserve !== null,
    mint: token.mint,
    owner: token.owner,
    ...(reserve === null ? {} : { rentExemptReserve: uiAmount(reserve, decimals) }),
    state: token.state,
    tokenAmount: uiAmount(token.amount, decimals),
  };
  return { program: 'spl-token', parsed: { info, type: 'account' }, space: data.length };
}

export function decimalsOf(ledger: EmbeddedLedger, mint: ChainAccount['address']): number {
  const account = ledger.account(mint);
  return (account && decodeMint(account.data)?.decimals) ?? 0;
}

/** An amount as the RPC writes it: exact in `amount` and `uiAmountString`, rounded in `uiAmount`. */
export function uiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const uiAmountString = fraction ? `${whole}.${fraction}` : whole;
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString };
}
