// The English catalogue. Keys never change with the wording. A text in {braces} is a template: the code that knows the
// value replaces the name.
import { approvals } from './en/approvals.ts'
import { chat } from './en/chat.ts'
import { commandLine } from './en/command-line.ts'
import { commands } from './en/commands.ts'
import { console } from './en/console.ts'
import { daemonCommands } from './en/daemon-commands.ts'
import { demo } from './en/demo.ts'
import { errors } from './en/errors.ts'
import { gates } from './en/gates.ts'
import { health } from './en/health.ts'
import { help, helpFrame } from './en/help.ts'
import { notices } from './en/notices.ts'
import { page } from './en/page.ts'
import { platforms } from './en/platforms.ts'
import { reasons } from './en/reasons.ts'
import { reports } from './en/reports.ts'
import { security } from './en/security.ts'
import { setup } from './en/setup.ts'
import { setupCommands } from './en/setup-commands.ts'
import { tables } from './en/tables.ts'
import { work } from './en/work.ts'

export const en = {
  approvals,
  chat,
  commandLine,
  commands,
  console,
  daemonCommands,
  demo,
  errors,
  gates,
  health,
  help,
  helpFrame,
  notices,
  page,
  platforms,
  reasons,
  reports,
  security,
  setup,
  setupCommands,
  tables,
  work,
}
