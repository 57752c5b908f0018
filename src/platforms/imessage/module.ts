// The module of the platform `imessage`: what Switchboard knows before it runs one.
import type { Options, PlatformModule } from '../../contract/index.ts'
import { addressOf, imessageOptions } from './config.ts'

export const imessageModule: PlatformModule = {
  name: 'imessage',
  options: imessageOptions,
  docs: 'docs/platforms/imessage.md',
  title: 'iMessage (on this Mac)',
  // Strangers never get a pairing code. The Mac's owner may talk and decide.
  defaultAccess: (options) => ({ dm: 'allowlist', allowFrom: ownOf(options), approvers: ownOf(options) }),
  setup: {
    questions: [
      {
        key: 'addresses',
        flag: 'addresses',
        ask: 'your own addresses in Messages, with commas between them (+49151…, me@icloud.com)',
      },
    ],
    complete: (answers) => ({
      addresses: String(answers.addresses ?? '')
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    }),
    try: async (options) => (await import('./try-database.ts')).tryDatabase(options),
    paste: () => [
      'System Settings, Privacy & Security, Full Disk Access: add the program that runs Switchboard (the terminal, or node)',
      'System Settings, Privacy & Security, Automation: let it control Messages (asked for at the first answer)',
    ],
  },
  doctor: () =>
    process.platform === 'darwin'
      ? []
      : [
          {
            gate: 'system',
            pass: false,
            reason: `imessage needs macOS; this system is ${process.platform}`,
            key: 'platform',
          },
        ],
  create: async (deps) => (await import('./index.ts')).createIMessage(deps),
}

function ownOf({ addresses }: Options): readonly string[] {
  return Array.isArray(addresses) ? addresses.map((one) => addressOf(String(one))) : []
}
