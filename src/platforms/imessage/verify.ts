// Whether a row is really from whom it names. Apple proves the sender of an iMessage; a number in an SMS or RCS message can be forged.
import type { MessageRow } from './chat-db.ts'
import type { IMessageConfig } from './config.ts'

export function isProven({ service }: MessageRow, { allowSms }: Pick<IMessageConfig, 'allowSms'>): boolean {
  return service === 'iMessage' || allowSms
}
