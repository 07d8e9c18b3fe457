/** Links that a terminal opens (OSC 8), where it is known to. */

const ESCAPE = '\u001b';
const END = `${ESCAPE}\\`;

/** Control characters would end the sequence early. */
const isAddress = (url: string): boolean => /^https?:\/\/[!-~]+$/.test(url);

/** Text that leads to an address; an address of another kind leaves the text as it is. */
export const linkText = (text: string, url: string): string =>
  isAddress(url) ? `${ESCAPE}]8;;${url}${END}${text}${ESCAPE}]8;;${END}` : text;

/**
 * True when a stream shows links. Off a terminal, without colour, on CI and on a dumb terminal never, unless
 * FORCE_HYPERLINK says so; else by the names that terminals give themselves.
 */
export function supportsLinks(
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
  wanted: boolean,
): boolean {
  if (!wanted || environment.NO_COLOR) return false;
  const forced = environment.FORCE_HYPERLINK;
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  if (!isTerminal || environment.TERM === 'dumb' || environment.CI) return false;
  // What runs inside another terminal's window knows only the outer one's name.
  if (/^(screen|tmux)/.test(environment.TERM ?? '')) return false;
  if (environment.WT_SESSION || environment.KITTY_WINDOW_ID || environment.KONSOLE_VERSION) return true;
  // GNOME Terminal and its relatives, from 0.50.
  if (Number(environment.VTE_VERSION ?? 0) > 5000) return true;
  if (/^(xterm-kitty|xterm-ghostty|alacritty|foot(-extra)?|wezterm)$/.test(environment.TERM ?? '')) return true;
  const [major = 0, minor = 0] = (environment.TERM_PROGRAM_VERSION ?? '').split('.').map(Number);
  switch (environment.TERM_PROGRAM) {
    case 'iTerm.app':
      return major > 3 || (major === 3 && minor >= 1);
    case 'vscode':
      return major > 1 || (major === 1 && minor >= 72);
    case 'WezTerm':
    case 'ghostty':
    case 'Hyper':
    case 'rio':
    case 'Tabby':
      return true;
    default:
      return false;
  }
}
