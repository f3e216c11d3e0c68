drop table if exists binding_message;

create table binding_message (
  id        text primary key,
  way       text not null,
  bytes     int  not null,
  stored_at timestamptz not null default clock_timestamp()
);
