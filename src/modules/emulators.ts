// Fake platforms for `switchboard emulate`, loaded when needed. Modules of third parties bring their own.
import type { StartEmulator } from '../contract/index.ts'

export const EMULATORS: ReadonlyMap<string, StartEmulator> = new Map([
  ['telegram', async (options) => (await import('../testing/telegram/emulator.ts')).emulateTelegram(options)],
  ['slack', async (options) => (await import('../testing/slack/emulator.ts')).emulateSlack(options)],
  ['email', async (options) => (await import('../testing/email/emulator.ts')).emulateEmail(options)],
  ['whatsapp', async (options) => (await import('../testing/whatsapp/emulator.ts')).emulateWhatsApp(options)],
  ['discord', async (options) => (await import('../testing/discord/emulator.ts')).emulateDiscord(options)],
  ['llm', async (options) => (await import('../testing/llm/emulator.ts')).emulateLlm(options)],
])
