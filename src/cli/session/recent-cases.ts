import { problem } from '../../kernel/problems.ts';
import { openNotebook } from './notebook.ts';

/** The numbers of the refund queue that was last on the screen. */
export interface RecentCases {
  remember(requestIds: readonly string[]): void;
  /** An id as it is; a number as the case that it stood for. @throws Problem `refund_request_not_found` */
  resolve(idOrNumber: string): string;
}

export function openRecentCases(path: string, warn: (text: string) => void): RecentCases {
  const file = openNotebook<{ readonly listed: readonly string[] }>(path, warn);
  return {
    remember(listed) {
      file.write({ listed });
    },
    resolve(idOrNumber) {
      if (!/^\d{1,3}$/.test(idOrNumber)) return idOrNumber;
      const id = file.read()?.listed?.[Number(idOrNumber) - 1];
      if (id !== undefined) return id;
      throw problem('refund_request_not_found', {
        message: `The last refund queue had no row ${idOrNumber}.`,
        fix: 'List it again: farelock refund queue.',
      });
    },
  };
}
