// The only listener: endpoints of platforms, admin API, health, web files.
export { createServer, type Server, type ServerConfig } from './create-server.ts'
export { DEFAULT_LIMITS, type ServerDeps, type ServerLimits } from './deps.ts'
export { isLoopbackListener } from './host-guard.ts'
