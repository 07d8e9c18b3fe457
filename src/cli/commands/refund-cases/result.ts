import * as desk from '../../../wire/flights/desk.ts';
import { plan, published } from '../../spec/published.ts';

const refundPlan = desk.refundPlan;

export const refundQueue = published(desk.refundQueue);

export const refundShow = published(desk.refundCase);

export const refundNote = published(desk.refundCase, { plan: plan({}) });

export const refundApprove = published(desk.refundCase, { plan: refundPlan });

export const refundReject = published(desk.refundCase, { plan: plan({ mail: desk.mail }) });
