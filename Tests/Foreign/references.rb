# What a Rails application's models say of their columns, as JSON: table, column, and the table and
# key that it refers to; for a polymorphic one also its column of types, and the type. For
# `bin/rails runner`.
require "json"

Rails.application.eager_load!

def references(model, one)
  if one.macro == :belongs_to
    return [] if one.polymorphic?
    [[model.table_name, one.foreign_key, one.klass.table_name, one.association_primary_key]]
  elsif one.macro == :has_and_belongs_to_many
    [[one.join_table, one.foreign_key, model.table_name, model.primary_key],
     [one.join_table, one.association_foreign_key, one.klass.table_name, one.klass.primary_key]]
  elsif one.options[:through]
    []
  elsif one.options[:as]
    [[one.klass.table_name, one.foreign_key, model.table_name, model.primary_key, one.type,
      model.polymorphic_name]]
  else
    [[one.klass.table_name, one.foreign_key, model.table_name, model.primary_key]]
  end
end

# Rails has a hidden model for each join table, whose left end it does not name.
models = ActiveRecord::Base.descendants.reject do |model|
  model.abstract_class? || !model.table_exists? || model.name.include?("HABTM_")
end
puts JSON.generate(models.flat_map { |model|
  model.reflect_on_all_associations.reject { |one| one.class_name.include?("HABTM_") }
       .flat_map { |one| references(model, one) }
}.uniq.sort_by(&:to_s))
