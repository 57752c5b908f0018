// The entry `switchboard/adapter`: everything that a platform or connector of a third party needs at run time. It is
// light, so that a module loads quickly.
export type {
  Abilities,
  Accepted,
  AdapterExports,
  Address,
  AgentConnector,
  AgentOutlet,
  AgentOutput,
  Ask,
  Attachment,
  Clock,
  ConnectorDeps,
  ConnectorModule,
  DefaultAccess,
  Delivery,
  DownloadedFile,
  Endpoint,
  ErrorCode,
  GateView,
  HistoryReader,
  HttpReply,
  InboundEvent,
  InboundMessage,
  LinkLease,
  LinkState,
  ModuleSetup,
  NewFile,
  OptionsSchema,
  OutboundOp,
  Pace,
  PlatformAdapter,
  PlatformChecks,
  PlatformDeps,
  PlatformFiles,
  PlatformIntake,
  PlatformLink,
  PlatformModule,
  Random,
  RawRequest,
  ReadBack,
  Receipt,
  Received,
  Redelivery,
  RunningEmulator,
  SecurityFinding,
  SendRequest,
  ServerReach,
  SetupQuestion,
  Signal,
  StartEmulator,
  StatusLine,
  Streaming,
  Verdict,
  VerifiedRequest,
  Watchers,
} from './contract/index.ts'
export { ERROR_TABLE, markVerified, REASONS, SwitchboardError } from './contract/index.ts'
export { createOutboxFeed, type OutboxFeed } from './kit/feed/outbox-feed.ts'
export type { FeedEvent, FeedReader, FeedRow, LiveRow } from './kit/feed/outbox-reader.ts'
export { type Position, parsePosition } from './kit/feed/position.ts'
export { safeFileName, safeMime } from './kit/files/file-names.ts'
export {
  createFileStore,
  type FetchedQuota,
  type FileLimit,
  type FileStore,
  type FileStoreOptions,
} from './kit/files/file-store.ts'
export {
  type ApiAnswer,
  type ApiCall,
  type ApiClient,
  type ApiClientOptions,
  asksToWait,
  createApiClient,
  type DownloadOptions,
} from './kit/http/api-client.ts'
export {
  ApiError,
  createRefusals,
  type Failure,
  type FailureTable,
  type Fault,
  failures,
  isRefusal,
  isStatus,
  type StatusContext,
  type StatusTable,
  statusError,
} from './kit/http/failures.ts'
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
} from './kit/http/guarded-fetch.ts'
export { equalSecrets, hmacKey, signSha256, verifySha256 } from './kit/http/hmac.ts'
export { type FormPart, multipartForm } from './kit/http/multipart.ts'
export { isVendorUrl, type VendorServer } from './kit/http/vendor-url.ts'
export { type ChatPaceOptions, type ChatPaces, createChatPace } from './kit/link/chat-pace.ts'
export type {
  LeaseRules,
  Link,
  LinkAttempt,
  LinkEnding,
  LinkOptions,
  LiveConnection,
} from './kit/link/link.ts'
export { pause } from './kit/link/pause.ts'
export { startLink } from './kit/link/start-link.ts'
export { TRIAL_TIMEOUT_MS, type Trial, trialOf } from './kit/trial.ts'
export { wordsIn } from './words/index.ts'
