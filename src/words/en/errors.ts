// What each error code means, in one sentence. An error's own message says what happened in this case.
import type { ErrorCode } from '../../contract/errors.ts'

export const errors: Readonly<Record<ErrorCode, string>> = {
  input_invalid: 'The input is malformed; the message names the field.',
  unauthorized: 'The credential is missing or wrong.',
  forbidden: 'The credential is valid, but does not allow this.',
  not_found: 'It does not exist. A wrong secret URL has this code, too.',
  method_not_allowed: 'The path exists, but not for this method.',
  conflict: 'Another request was first, or the state does not allow it.',
  held: 'A person holds this conversation in the agent’s place.',
  not_held: 'Only who holds a conversation may write there as a person, or give it back.',
  gone: 'It existed and has expired.',
  too_large: 'The body is over the limit.',
  unsupported_media: 'That content type is not taken here.',
  rate_limited: 'Too many; try again after the time given.',
  config_invalid: 'The configuration is not valid; line, column and a hint are given.',
  data_folder_held: 'Another daemon owns this data folder.',
  daemon_absent: 'The command needs a running daemon, and none holds the data folder.',
  store_unavailable: 'The database cannot be written now (away, locked, or the disk is full).',
  store_corrupt: 'The database file is damaged or from a newer version.',
  draining: 'Not now: the daemon or this part of it is starting, waiting for a secret, or shutting down.',
  agent_absent: 'No process is attached for this agent.',
  agent_unreachable:
    'The agent cannot be reached: no connection, or a 502, 503 or 504. The request is sent again.',
  agent_failed: 'The agent answered with an error.',
  platform_unavailable:
    'No message reached the platform: there was no connection, or it said that it did nothing. A read without an answer has this code, too.',
  platform_rejected: 'The platform refused the message for good.',
  window_closed: 'The platform takes free text only for a while after a person wrote, and that time is over.',
  outcome_unknown: 'The request may have arrived, but no confirmation came.',
  execution_failed: 'A tool could not do what was asked.',
  not_built: 'Known by name, but not in this version.',
  internal: 'A bug in Switchboard.',
}
