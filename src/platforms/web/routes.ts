// The types of the routes under /chat.
import {
  DEFAULT_TUNABLES,
  defined,
  type HttpReply,
  type PlatformIntake,
  type RawRequest,
  SwitchboardError,
} from '../../contract/index.ts'
import type { WebDeps } from './config.ts'
import type { FileStore } from './files.ts'
import type { Session } from './verify.ts'
import type { Windows } from './windows.ts'

export interface EndpointParts {
  readonly deps: WebDeps
  readonly windows: Windows
  readonly files: FileStore
  /** Null until the platform was started. */
  readonly intake: () => PlatformIntake | null
}

/** By method and path: `GET /me`. */
export type Routes = Readonly<Record<string, (request: RawRequest, session: Session) => Promise<HttpReply>>>

/** A file is one body, so the server's limit counts. */
export function maxUploadBytes(deps: WebDeps): number {
  return deps.maxBodyBytes?.() ?? DEFAULT_TUNABLES.maxBodyBytes
}

export function invalid(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message, defined({ hint }))
}
