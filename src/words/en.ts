// The English catalogue. Keys never change with the wording. A text in {braces} is a template: the code that knows the
// value replaces the name.
import { approvals } from './en/approvals.ts'
import { commands } from './en/commands.ts'
import { notices } from './en/notices.ts'
import { reasons } from './en/reasons.ts'

export const en = { approvals, commands, notices, reasons }
