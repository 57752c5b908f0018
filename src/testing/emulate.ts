// Fakes of platforms without a test runner, for `switchboard emulate` and for tests of other projects. This file is the
// package export `switchboard/emulate`.
export {
  type ChannelPrompt,
  type ClaudeCode,
  type ClaudeCodeOptions,
  startClaudeCode,
} from './claude-code-double.ts'
export type { ChannelSession, InstalledPlugin } from './claude-code-gates.ts'
export { type DiscordPersonAction, discordControlServer } from './discord/control.ts'
export {
  createFakeDiscord,
  FAKE_DISCORD_TOKEN,
  type FakeDiscord,
  type FakeDiscordOptions,
} from './discord/fake-discord.ts'
export type {
  Person as DiscordPerson,
  PersonOptions as DiscordPersonOptions,
  SayOptions as DiscordSayOptions,
} from './discord/person.ts'
export {
  createFakeMail,
  FAKE_BOT_ADDRESS,
  FAKE_KATE_ADDRESS,
  FAKE_MAIL_PASSWORD,
  type FakeMailOptions,
  type FakeMailServers,
} from './email/fake-mail.ts'
export type { MailPersonAction } from './email/mail-control.ts'
export type { MailPerson, ReadMail, WriteOptions as MailWriteOptions } from './email/mail-person.ts'
export {
  faultPlansFor,
  formatMatrix,
  historyPlansFor,
  type MatrixCell,
  type NamedCalls,
  type NamedPlan,
} from './faults/fault-matrix.ts'
export {
  createFaultPlan,
  FAULT_KINDS,
  type FaultKind,
  type FaultPlan,
  type FaultRule,
  parseFaultRules,
} from './faults/fault-plan.ts'
export { type SlackPersonAction, slackControlServer } from './slack/control.ts'
export {
  createFakeSlack,
  FAKE_APP_TOKEN,
  FAKE_BOT_TOKEN,
  FAKE_SIGNING_SECRET,
  type FakeSlack,
  type FakeSlackOptions,
} from './slack/fake-slack.ts'
export type {
  Person as SlackPerson,
  PersonOptions as SlackPersonOptions,
  SayOptions as SlackSayOptions,
} from './slack/person.ts'
export { controlServer, type PersonAction } from './telegram/control.ts'
export {
  createFakeTelegram,
  FAKE_TOKEN,
  type FakeTelegram,
  type FakeTelegramOptions,
} from './telegram/fake-telegram.ts'
export type { Person, PersonOptions, SayOptions } from './telegram/person.ts'
export { readTelegramHtml } from './telegram/telegram-html.ts'
export { type WhatsAppPersonAction, whatsappControlServer } from './whatsapp/control.ts'
export {
  createFakeWhatsApp,
  FAKE_ACCESS_TOKEN,
  FAKE_APP_SECRET,
  FAKE_DISPLAY_NUMBER,
  FAKE_PHONE_NUMBER_ID,
  FAKE_VERIFY_TOKEN,
  type FakeWhatsApp,
  type FakeWhatsAppOptions,
} from './whatsapp/fake-whatsapp.ts'
export type {
  Person as WhatsAppPerson,
  PersonOptions as WhatsAppPersonOptions,
  SayOptions as WhatsAppSayOptions,
} from './whatsapp/person.ts'
